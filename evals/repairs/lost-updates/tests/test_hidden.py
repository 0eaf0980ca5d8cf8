import threading
import unittest

from stock.warehouse import SoldOut, Warehouse

WAIT = 0.05


class SlowStore:
    """Holds each reader up until another thread has read the same, or for a moment: so a race is always lost."""

    def __init__(self, numbers):
        self.numbers = dict(numbers)
        self.changed = threading.Condition()
        self.reads = 0
        self.on_set = lambda name: None

    def get(self, name):
        with self.changed:
            number = self.numbers.get(name, 0)
            self.reads += 1
            mine = self.reads
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.reads > mine, WAIT)
            return number

    def set(self, name, number):
        with self.changed:
            self.numbers[name] = number
        self.on_set(name)


def together(*calls):
    failures = []

    def run(call):
        try:
            call()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
        if thread.is_alive():
            raise AssertionError("it hangs")
    return failures


class Threads(unittest.TestCase):
    def test_nothing_received_is_lost(self):
        store = SlowStore({"box": 1})
        warehouse = Warehouse(store)
        self.assertEqual(together(*[lambda: warehouse.receive("box", 1)] * 6), [])
        self.assertEqual(store.numbers["box"], 7)

    def test_the_last_one_is_sold_once(self):
        store = SlowStore({"box": 1})
        warehouse = Warehouse(store)
        failures = together(*[lambda: warehouse.sell("box", 1)] * 3)
        self.assertEqual([type(error) for error in failures], [SoldOut, SoldOut])
        self.assertEqual(store.numbers["box"], 0)

    def test_receiving_and_selling(self):
        store = SlowStore({"box": 5})
        warehouse = Warehouse(store)
        together(lambda: warehouse.receive("box", 3), lambda: warehouse.sell("box", 2))
        self.assertEqual(store.numbers["box"], 6)

    def test_no_one_sees_half_a_repacking(self):
        store = SlowStore({"box": 4, "bag": 0})
        warehouse = Warehouse(store)
        seen, counters = [], []

        def count(name):
            seen.append((name, warehouse.count(name)))

        def on_set(name):
            store.on_set = lambda name: None
            for each in ("box", "bag"):
                counters.append(threading.Thread(target=count, args=(each,), daemon=True))
                counters[-1].start()
            for counter in counters:
                counter.join(0.3)

        store.on_set = on_set
        self.assertEqual(together(lambda: warehouse.repack("box", "bag", 3)), [])
        for counter in counters:
            counter.join(5)
        self.assertEqual(sorted(seen), [("bag", 3), ("box", 1)])

    def test_a_repacking_of_too_many_changes_nothing(self):
        store = SlowStore({"box": 1})
        with self.assertRaises(SoldOut):
            Warehouse(store).repack("box", "bag", 2)
        self.assertEqual((store.numbers["box"], store.numbers.get("bag", 0)), (1, 0))

    def test_things_can_be_repacked_into_themselves(self):
        store = SlowStore({"box": 2})
        Warehouse(store).repack("box", "box", 2)
        self.assertEqual(store.numbers["box"], 2)


unittest.main()
