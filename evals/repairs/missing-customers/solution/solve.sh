#!/bin/bash
set -e
cat > turnover.sql <<'EOF'
-- One row for each customer who is not in the given region: name, number of orders, sum in cents.
SELECT customers.name, count(orders.id), coalesce(sum(orders.cents), 0)
FROM customers LEFT JOIN orders ON orders.customer = customers.id
WHERE customers.region IS NOT :region
GROUP BY customers.id
ORDER BY customers.name, customers.id;
EOF
