/**
 * The candidate to beat on PostgreSQL: the endpoints of the tasks example by hand, with Fastify and node-postgres. It keeps its
 * one token in memory, as Quoin keeps those that it has looked up.
 *
 *   node bench/hand-written-postgres.ts <url> <connections>      prints where it listens and a token
 */
import { randomBytes } from 'node:crypto'
import type { onRequestHookHandler } from 'fastify'
import { openDoor } from './hand-written/door.ts'
import { postgresTaskStore } from './hand-written/postgres-task-store.ts'
import { Refusal } from './hand-written/refusal.ts'
import { changedTask, newTask, parameter, wholeNumber } from './hand-written/task-input.ts'

interface Addressed {
  readonly Params: { readonly guid: string }
}
interface Listed {
  readonly Querystring: Readonly<Record<string, unknown>>
}

const [url, connections] = process.argv.slice(2)
if (url === undefined || connections === undefined)
  throw new Error('Say where the database is: node bench/hand-written-postgres.ts <url> <connections>')
const tasks = await postgresTaskStore(url, Number(connections))
const token = randomBytes(32).toString('base64url')
const app = openDoor()
const json = 'application/json; charset=utf-8'

const signedIn: onRequestHookHandler = (request, _reply, done) => {
  const isKnown = request.headers.authorization === `Bearer ${token}`
  done(isKnown ? undefined : new Refusal(404, 'not found'))
}

function found(text: string | undefined): string {
  if (text === undefined) throw new Refusal(404, 'task not found')
  return text
}

app.get<Listed>('/api/v1/tasks', async ({ query }, reply) => {
  const limit = wholeNumber(query, 'limit', 20)
  const offset = wholeNumber(query, 'offset', 0)
  return reply.header('content-type', json).send(await tasks.list(parameter(query, 'status'), limit, offset))
})

app.get<Addressed>('/api/v1/tasks/:guid', async ({ params }, reply) =>
  reply.header('content-type', json).send(found(await tasks.get(params.guid))),
)

app.post('/api/v1/tasks', { onRequest: signedIn }, async ({ body }, reply) => {
  const task = newTask(body)
  if (task === undefined) throw new Refusal(400, 'title is required')
  return reply
    .code(201)
    .header('content-type', json)
    .send(await tasks.create(task))
})

app.put<Addressed>('/api/v1/tasks/:guid', { onRequest: signedIn }, async ({ params, body }, reply) => {
  const change = changedTask(body)
  if (change === undefined) throw new Refusal(400, 'title is required')
  return reply.header('content-type', json).send(found(await tasks.update(params.guid, change)))
})

app.put<Addressed>('/api/v1/bench/visits/:guid', { onRequest: signedIn }, async ({ params }, reply) =>
  reply.header('content-type', json).send(found(await tasks.visit(params.guid))),
)

app.get<Listed>('/api/v1/bench/where', async ({ query }, reply) => {
  const [status, assignee] = [parameter(query, 'status') ?? '', parameter(query, 'assignee') ?? '']
  const offset = wholeNumber(query, 'offset', 0)
  return reply.header('content-type', json).send(await tasks.where(status, assignee, offset))
})

console.log(`token ${token}`)
console.log(`listening ${await app.listen({ host: '127.0.0.1', port: 0 })}`)

process.once('SIGTERM', async () => {
  await app.close()
  await tasks.close()
})
