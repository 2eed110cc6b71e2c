/** Parse Server on PostgreSQL: its REST API over a class of tasks, with the index that its lists need. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { isJsonObject } from '../../src/shared/json.ts'
import { onCore } from '../cores.ts'
import { ask, runCooperatively } from '../requests.ts'
import { LISTS_PER_WRITE } from '../rows.ts'
import { SEEDED, STATUSES, statusName, taskBody } from '../sample-tasks.ts'
import { startServer } from '../server-process.ts'
import { freePort } from './install.ts'
import { afterWrites, type Peer } from './peer.ts'

export const PARSE_SERVER = 'parse-server@9.10.0'

const PREFIX = '/api/v1'
const headers = { 'x-parse-application-id': 'bench' }

const INSERT = `
  INSERT INTO "Task"
    ("objectId", "createdAt", "updatedAt", title, status, assignee, priority, due, tags, description)
  SELECT lpad(n::text, 10, '0'), now() + n * interval '1 millisecond', now() + n * interval '1 millisecond',
    task ->> 'title', task ->> 'status', task ->> 'assignee', (task ->> 'priority')::float8, task ->> 'due',
    task -> 'tags', task ->> 'description'
  FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS given (task, n)`

export async function startParseServer(
  folder: string,
  core: number | undefined,
  database: string,
): Promise<Peer> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}${PREFIX}`
  const server = await startServer({
    command: onCore(core, [process.execPath, join(folder, 'node_modules/parse-server/bin/parse-server')]),
    environment: {
      HOME: folder,
      NODE_ENV: 'production',
      PORT: String(port),
      PARSE_SERVER_HOST: '127.0.0.1',
      PARSE_SERVER_MOUNT_PATH: PREFIX,
      PARSE_SERVER_URL: base,
      PARSE_SERVER_APPLICATION_ID: 'bench',
      PARSE_SERVER_MASTER_KEY: randomBytes(16).toString('hex'),
      PARSE_SERVER_DATABASE_URI: database,
      PARSE_SERVER_ALLOW_CLIENT_CLASS_CREATION: 'true',
      PARSE_SERVER_LOGS_FOLDER: join(folder, 'parse-logs'),
      PARSE_SERVER_LOG_LEVEL: 'error',
    },
    reports: false,
  })
  try {
    const ids = await fill(base, database)
    const list = runCooperatively(
      Array.from({ length: STATUSES }, (_, number) => {
        const where = encodeURIComponent(JSON.stringify({ status: statusName(number) }))
        return ask({ path: `classes/Task?where=${where}&order=-createdAt&limit=20`, headers })
      }),
    )
    const write = runCooperatively(
      ids.map((id) =>
        ask({ method: 'PUT', path: `classes/Task/${id}`, headers, body: '{"priority":4}', counted: false }),
      ),
    )
    const read = ids.map((id) => ask({ path: `classes/Task/${id}`, headers }))
    const create = Array.from({ length: 256 }, (_, number) =>
      ask({ method: 'POST', path: 'classes/Task', headers, body: taskBody(number), expected: 201 }),
    )
    return {
      name: 'Parse Server, PostgreSQL',
      pid: server.pid,
      port,
      asks: {
        read: () => runCooperatively(read),
        list: () => afterWrites(list, write, LISTS_PER_WRITE),
        create: () => runCooperatively(create),
      },
      close: server.stop,
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** The same tasks as the others have. Gives the ids of some, evenly spread. */
async function fill(base: string, database: string): Promise<string[]> {
  // Made through the API, the first task makes the class with its columns. The others one by one would take a minute.
  const first = await fetch(`${base}/classes/Task`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: taskBody(0),
  })
  if (first.status !== 201) throw new Error(`Parse Server answered ${first.status}: ${await first.text()}`)
  const others = Array.from({ length: SEEDED - 1 }, (_, number) => taskBody(number + 1))
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    await client.query(INSERT, [`[${others.join(',')}]`])
    await client.query('CREATE INDEX task_status ON "Task" (status, "createdAt")')
    await client.query('ANALYZE "Task"')
  } finally {
    await client.end()
  }
  const reply: unknown = await (await fetch(`${base}/classes/Task?limit=${SEEDED}`, { headers })).json()
  const results = isJsonObject(reply) && Array.isArray(reply.results) ? reply.results : []
  if (results.length !== SEEDED)
    throw new Error(`Parse Server holds ${results.length} tasks and not ${SEEDED}.`)
  return results
    .filter(isJsonObject)
    .flatMap((task, index) => (index % 10 === 0 ? [String(task.objectId)] : []))
}
