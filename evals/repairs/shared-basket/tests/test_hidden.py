import unittest

from basket import Basket, copy_basket


class Baskets(unittest.TestCase):
    def test_new_baskets_are_empty(self):
        ada = Basket("Ada")
        ada.put("lamp", 2)
        ada.note("gift")
        ben = Basket("Ben")
        self.assertEqual((ben.items, ben.notes), ({}, []))
        self.assertEqual((ada.items, ada.notes), ({"lamp": 2}, ["gift"]))

    def test_a_copy_stands_alone(self):
        ada = Basket("Ada")
        ada.put("lamp")
        ben = copy_basket(ada, "Ben")
        ben.put("chair")
        ben.note("left door")
        self.assertEqual((ada.items, ada.notes), ({"lamp": 1}, []))
        self.assertEqual((ben.items, ben.notes), ({"lamp": 1, "chair": 1}, ["left door"]))

    def test_what_was_handed_in_is_not_touched(self):
        things, notes = {"lamp": 1}, ["a"]
        basket = Basket("Ada", things, notes)
        basket.put("lamp")
        basket.note("b")
        things["chair"] = 7
        notes.append("c")
        self.assertEqual((things, notes), ({"lamp": 1, "chair": 7}, ["a", "c"]))
        self.assertEqual((basket.items, basket.notes), ({"lamp": 2}, ["a", "b"]))
        self.assertEqual(basket.total({"lamp": 4}), 8)

    def test_an_empty_dictionary_of_the_caller_is_not_kept(self):
        things = {}
        Basket("Ada", things).put("lamp")
        self.assertEqual(things, {})


unittest.main()
