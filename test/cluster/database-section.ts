/** The part of `docs/reliability.md` about a PostgreSQL of which only a part fails. Each row is a test of `npm run test:all`. */
export const databaseSection = `## PostgreSQL that fails in part

Each row is a test on a real server, part of \`npm run test:all\`, that fails without the protection.

| Fault | Promise | Command: \`npx vitest run …\` |
| --- | --- | --- |
| The database is read-only | Writes reply 503 with \`retry-after\`, reads continue, nodes keep their leases and can join | \`test/cluster/read-only-database.test.ts\` |
| A node starts on a standby, on a read-only database, or without rights | Exit code 1 and one line with host, database and what to do; never the password | \`test/cluster/refused-start.test.ts\` |
| A node freezes behind the load balancer of \`deploy/compose.yaml\`, or no node is up | The connections of waiting clients are closed within seconds; 503 with \`retry-after\` | \`test/deploy/load-balancer.test.ts\`, and with HAProxy installed \`npm run torture -- --only slow-suites\` |
| The only synchronous standby is gone, so every COMMIT waits | Reads and constant replies continue, leases are renewed, and waiting writes never hold all connections | \`test/cluster/lost-standby.test.ts\` |
| A standby becomes the primary | Nodes join again and load their state again; no management write is acknowledged before the leases of the former primary have ended | \`src/storage/postgres/core/postgres-failover.test.ts\` |
| A COMMIT hangs | 503 "may still be stored" at the deadline of the run; its connection is kept until PostgreSQL answers, then closed | \`test/cluster/lost-standby.test.ts\`, \`src/storage/postgres/core/late-answers.test.ts\` |
| The machine of a node is suspended, and its clock is set when it resumes | The node replies 503 until it has loaded its state again | \`src/storage/postgres/core/postgres-nodes.test.ts\` |
`
