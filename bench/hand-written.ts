/**
 * The candidate to beat: the endpoints of the tasks example as a good engineer writes them for production, by hand, with
 * Fastify and node:sqlite. It promises what Quoin promises for the same requests: every write is on disk before it is
 * acknowledged, bodies and parameters are checked, tokens are looked up. `equal-work.ts` holds it to that.
 *
 *   node bench/hand-written.ts <folder>      prints where it listens and a token
 */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { onRequestHookHandler } from 'fastify'
import { accessTokens } from './hand-written/access-tokens.ts'
import { openDoor } from './hand-written/door.ts'
import { Refusal } from './hand-written/refusal.ts'
import { changedTask, newTask, parameter, wholeNumber } from './hand-written/task-input.ts'
import { connect, taskStore } from './hand-written/task-store.ts'

interface Addressed {
  readonly Params: { readonly guid: string }
}
interface Listed {
  readonly Querystring: Readonly<Record<string, unknown>>
}

const [folder] = process.argv.slice(2)
if (folder === undefined)
  throw new Error('Say in which folder the database is: node bench/hand-written.ts <folder>')
const path = join(folder, 'tasks.db')
const writing = connect(path, false)
let reading: DatabaseSync | undefined
const openReader = () => (reading ??= connect(path, true))
const tasks = taskStore(writing, openReader)
const tokens = accessTokens(writing, openReader)
const app = openDoor()

const json = 'application/json; charset=utf-8'

/** Before the body is read. Who may not write is not told what is here. */
const signedIn: onRequestHookHandler = (request, _reply, done) => {
  done(tokens.accepts(request.headers.authorization) ? undefined : new Refusal(404, 'not found'))
}

const constantReply = {
  schema: {
    response: {
      200: {
        type: 'object',
        properties: {
          service: { type: 'string' },
          ready: { type: 'boolean' },
          version: { type: 'integer' },
          regions: { type: 'array', items: { type: 'string' } },
          limits: { type: 'object', properties: { page: { type: 'integer' }, body: { type: 'integer' } } },
        },
      },
    },
  },
}

app.get('/api/v1/bench/constant', constantReply, (_request, reply) => {
  reply.send({
    service: 'bench',
    ready: true,
    version: 3,
    regions: ['north', 'south'],
    limits: { page: 20, body: 1_048_576 },
  })
})

app.get<Listed>('/api/v1/tasks', (request, reply) => {
  const { query } = request
  const limit = wholeNumber(query, 'limit', 20)
  const offset = wholeNumber(query, 'offset', 0)
  reply.header('content-type', json).send(tasks.list(parameter(query, 'status'), limit, offset))
})

app.get<Addressed>('/api/v1/tasks/:guid', (request, reply) => {
  const found = tasks.get(request.params.guid)
  if (found === undefined) throw new Refusal(404, 'task not found')
  reply.header('content-type', json).send(found)
})

app.post('/api/v1/tasks', { onRequest: signedIn }, (request, reply) => {
  const task = newTask(request.body)
  if (task === undefined) throw new Refusal(400, 'title is required')
  tasks.create(task).then(
    (created) => reply.code(201).header('content-type', json).send(created),
    (error) => reply.send(error),
  )
})

app.put<Addressed>('/api/v1/tasks/:guid', { onRequest: signedIn }, async (request, reply) => {
  const { guid } = request.params
  if (tasks.get(guid) === undefined) throw new Refusal(404, 'task not found')
  const change = changedTask(request.body)
  if (change === undefined) throw new Refusal(400, 'title is required')
  const updated = await tasks.update(guid, change)
  if (updated === undefined) throw new Refusal(404, 'task not found')
  return reply.header('content-type', json).send(updated)
})

app.put<Addressed>('/api/v1/bench/visits/:guid', { onRequest: signedIn }, async (request, reply) => {
  const visited = await tasks.visit(request.params.guid)
  if (visited === undefined) return reply.code(404).send({ error: 'task not found' })
  return reply.header('content-type', json).send(visited)
})

app.get<Listed>('/api/v1/bench/where', ({ query }, reply) => {
  const [status, assignee] = [parameter(query, 'status') ?? '', parameter(query, 'assignee') ?? '']
  reply.header('content-type', json).send(tasks.where(status, assignee, wholeNumber(query, 'offset', 0)))
})

console.log(`token ${tokens.create()}`)
console.log(`listening ${await app.listen({ host: '127.0.0.1', port: 0 })}`)

process.once('SIGTERM', async () => {
  await app.close()
  reading?.close()
  writing.close()
})
