/**
 * The parts of `docs/reliability.md` about a PostgreSQL of which only a part fails, and about work that is stored once. Each row is a test of
 * `npm run test:all`.
 */
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
| The database is in a former state: on a lower timeline, or at an earlier change, than a node has seen | The log has an error, and \`/health/ready\` the warning \`went_back\`, because acknowledged writes may be lost | \`src/storage/postgres/core/postgres-nodes.test.ts\` |
| Two transactions wait for each other's documents, and PostgreSQL ends one | Its run, or the management request, begins once more; both are done, once each | \`src/flows/run/crossing-writes.test.ts\` |
| Many requests change one locked document | Changes of others have connections | \`src/storage/postgres/core/postgres-nodes.test.ts\` |

## Jobs, events and schedules that are stored once

Each row is a test on both engines that fails without the protection.

| Fault | Promise | Command: \`npx vitest run …\` |
| --- | --- | --- |
| A process is killed between the last commit of a run and what it does next | The commit has ended the job of the run, so nothing that it wrote is there twice. A run with several commits, because it calls other servers, is run at least once, with the same \`job\` | \`src/flows/background/ended-jobs.test.ts\` |
| Another node has taken over the job of a run, or a user has cancelled it | The run commits nothing | \`src/flows/background/ended-jobs.test.ts\` |
| A clock that was ahead is set back | Schedules fire again from the present time, with a warning; new documents sort behind those that are there | \`src/queue/scheduler.test.ts\`, \`src/storage/document-stamps.test.ts\` |
`
