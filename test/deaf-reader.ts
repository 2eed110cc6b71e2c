/**
 * Loaded into each process of a Quoin, where it touches the readers only: they say that they have applied a change, and do
 * not. With it a test can show that it would notice.
 */
import type { ToReader } from '../src/workers/worker-messages.ts'

if (/reader-process\.m?[jt]s$/.test(process.argv[1] ?? '')) {
  const emit = process.emit.bind(process)
  Object.assign(process, {
    emit(name: string, ...rest: unknown[]) {
      const [message] = rest
      if (name === 'message' && isChange(message)) {
        process.send?.({ kind: 'applied', number: message.number })
        return true
      }
      return Reflect.apply(emit, process, [name, ...rest])
    },
  })
}

/** The one that says nothing is let through: it is part of the start. */
function isChange(message: unknown): message is Extract<ToReader, { kind: 'change' }> {
  return typeof message === 'object' && message !== null && 'topic' in message && message.topic !== ''
}
