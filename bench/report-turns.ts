/**
 * Preloaded into a server (`node --import`): answers, over the process's channel, with the longest stretch for which its event loop was
 * held since it was last asked, in milliseconds of processor time. A wait by the wall clock also counts what other processes take.
 */
import { guardTurns } from '../test/turn-guard.ts'

const guard = guardTurns()
guard.unref()

process.on('message', async () => {
  process.send?.(await guard.longest())
})
// The channel must not keep alive a server that has closed.
process.channel?.unref()
