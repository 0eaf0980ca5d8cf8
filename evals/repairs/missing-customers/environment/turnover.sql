-- One row for each customer who is not in the given region: name, number of orders, sum in cents.
SELECT customers.name, count(*), sum(orders.cents)
FROM customers, orders
WHERE orders.customer = customers.id AND customers.region <> :region
GROUP BY customers.name
ORDER BY customers.name;
