/**
 * The program of a process that only reads. The writer forks it, tells it everything by messages and ends it; without
 * the writer it ends at once.
 */
import { stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import { eventLoopLoad } from '../workers/event-loop-load.ts'
import type { FromReader, Opening, ToReader } from '../workers/worker-messages.ts'
import { type WriterLink, writerLink } from '../workers/writer-link.ts'
import { openReader, type Reader } from './open-reader.ts'
import { startWatchdog } from './watchdog.ts'

/** Milliseconds between two messages about how busy it is. */
const LOAD_MS = 1_000

let link: WriterLink | undefined
let reader: Reader | undefined

function send(message: FromReader): void {
  if (process.connected) process.send?.(message)
}

function end(code: number): never {
  process.exit(code)
}

/** Nothing that this process has in memory can be trusted any more; another one takes its place. */
function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  process.send?.({ kind: 'failed', message } satisfies FromReader, () => end(1))
}

async function open(opening: Opening): Promise<void> {
  link = writerLink({
    guid: opening.guid,
    send,
    // Asks the system: it has given this process another parent when the writer is gone, whatever is still in the queue.
    alive: () => process.ppid === opening.writer,
    broken: fail,
  })
  reader = await openReader(opening, {
    clock: Date.now,
    random: (bytes) => void crypto.getRandomValues(bytes),
    link,
    send,
    orphaned: () => end(1),
  })
  const load = eventLoopLoad()
  startWatchdog({
    running: reader.running,
    seconds: opening.options.watchdog,
    directory: stuckDirectory(opening.options.data),
    lost: fail,
  })
  setInterval(() => send({ kind: 'load', load: load() }), LOAD_MS).unref()
  send({ kind: 'ready' })
}

async function hear(message: ToReader): Promise<void> {
  switch (message.kind) {
    case 'open':
      return open(message.opening)
    case 'change':
      return link?.change(message)
    case 'listen':
      await reader?.listen(message.port)
      return send({ kind: 'listening' })
    case 'collect':
      return send({
        kind: 'metrics',
        number: message.number,
        metrics: (await reader?.metrics(message.of)) ?? [],
      })
    case 'stop':
      await reader?.close()
      end(0)
  }
}

process.on('message', (message) => {
  // The other end of the channel is the same program.
  hear(message as ToReader).catch(fail)
})
process.on('disconnect', () => end(1))
// A terminal's Ctrl-C reaches the whole group; the writer says when to stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
