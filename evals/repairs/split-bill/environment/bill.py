"""Splits bills of a restaurant. Amounts are texts such as "12.50", as they come from the till and go to the printer."""


def add_tip(amount, percent):
    """Return the amount with a tip, rounded to cents; half a cent is rounded up."""
    return f"{float(amount) * (1 + percent / 100):.2f}"


def split(amount, people):
    """Return what each of the people pays: shares that differ by one cent at most and add up to the amount.

    Those who pay a cent more come first.
    """
    share = round(float(amount) / people, 2)
    return [f"{share:.2f}"] * people


def total(amounts):
    """Return the sum of amounts."""
    return f"{sum(float(amount) for amount in amounts):.2f}"
