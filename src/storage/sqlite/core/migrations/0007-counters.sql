-- Numbers that fields are given. name: storage, a blank, field. last: the highest number given, which is never given again,
-- also when its document is deleted.
CREATE TABLE counter (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
