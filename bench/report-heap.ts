/**
 * Preloaded into a server (`node --import`): answers, over the process's channel, with the bytes that its heap holds once
 * all garbage is collected.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

process.on('message', () => {
  if (typeof collect !== 'function') throw new TypeError('V8 gives no function to collect garbage.')
  // Twice: what the first one finalises the second one can free.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ heap: heapUsed, external })
})
// The channel must not keep alive a server that has closed.
process.channel?.unref()
