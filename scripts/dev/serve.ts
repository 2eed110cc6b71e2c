/** The server of `npm run dev`: it tells the process that started it where it listens, and ends with it. */
import '../../bin/compile-cache.mjs'
import { flushCompileCache } from 'node:module'

const [{ runStart }, { OptionError }, { readOptions }] = await Promise.all([
  import('../../src/cli/run-start.ts'),
  import('../../src/options/option-kinds.ts'),
  import('../../src/options/options.ts'),
])

// Killed without a signal that it could have handed on.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()

try {
  process.exitCode = await runStart(undefined, {
    options: () => readOptions(),
    print: (text) => console.log(text),
    complain: (text) => console.error(text),
    announce: (text) => {
      process.send?.(text)
      // What was compiled is there for the next start, however this process ends.
      setImmediate(flushCompileCache)
    },
    readLine: async () => '',
    readSecret: async () => '',
    clock: Date.now,
    random: (bytes) => void crypto.getRandomValues(bytes),
  })
} catch (error) {
  // `quoin start` prints one line. Here the sources may be at fault, and the stack says where.
  console.error(error instanceof OptionError ? error.message : error)
  process.exitCode = 1
}
