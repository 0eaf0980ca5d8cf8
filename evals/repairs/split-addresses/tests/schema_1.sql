PRAGMA user_version = 1;
CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    address TEXT,
    boss INTEGER REFERENCES people (id)
);
CREATE INDEX people_by_name ON people (name);
CREATE TABLE letters (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    text TEXT NOT NULL
);
