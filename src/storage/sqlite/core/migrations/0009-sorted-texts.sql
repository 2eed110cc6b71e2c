-- From here on indexes may be over quoin_sorted (src/shared/texts/text-order.ts). A version of Quoin without that function could not
-- write to their tables, so this step says that it is too old.
SELECT 1;
