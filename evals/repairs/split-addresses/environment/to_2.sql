CREATE TABLE addresses (id INTEGER PRIMARY KEY, street TEXT, town TEXT);
INSERT INTO addresses (street, town)
SELECT substr(address, 1, instr(address, ',') - 1), substr(address, instr(address, ',') + 1) FROM people;
ALTER TABLE people ADD COLUMN address_id INTEGER REFERENCES addresses (id);
UPDATE people SET address_id = (SELECT id FROM addresses WHERE people.address = street || ',' || town);
ALTER TABLE people DROP COLUMN address;
