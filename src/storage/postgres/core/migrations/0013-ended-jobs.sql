-- A job with an order_key that ended in the transaction of its run: done, and its lease is kept until the next job of the key
-- may run. Where a node is killed in between, the claim that finds the lease over lets the next one go.
CREATE INDEX job_ended ON job (lease_until) WHERE state = 'done' AND lease_until > 0;
