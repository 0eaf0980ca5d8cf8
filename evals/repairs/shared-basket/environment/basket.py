"""A basket of a shop: what a customer has put into it, and notes for the one who packs it."""


class Basket:
    def __init__(self, owner, items={}, notes=[]):
        self.owner = owner
        self.items = items
        self.notes = notes

    def put(self, name, count=1):
        self.items[name] = self.items.get(name, 0) + count

    def note(self, text):
        self.notes.append(text)

    def total(self, prices):
        return sum(prices[name] * count for name, count in self.items.items())


def copy_basket(basket, owner):
    """Make a basket with the same things for someone else."""
    return Basket(owner, basket.items, basket.notes)
