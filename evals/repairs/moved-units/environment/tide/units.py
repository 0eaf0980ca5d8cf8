"""Units: inside, heights are whole centimetres and times are seconds of the day; others occur at the edges only."""


def read_metres(text):
    return int(float(text) * 100)


def show_metres(centimetres):
    return f"{centimetres // 100}.{centimetres % 100:02}"


def read_clock(text):
    hours, minutes = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60


def show_clock(seconds):
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}"
