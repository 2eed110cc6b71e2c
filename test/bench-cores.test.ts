import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** In a process of its own, since it is moved. */
const script = `
  import { spawnSync } from 'node:child_process'
  import { onAllCores, onCore, takeCore } from './bench/cores.ts'
  const coresOf = (command) => spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout.split(':').at(-1).trim()
  const started = () => coresOf('taskset -cp $$')
  const all = coresOf('taskset -cp 0-1023 $$ > /dev/null; taskset -cp $$')
  const cores = takeCore()
  const one = started()
  const inside = await onAllCores(async () => started())
  const [name, ...words] = onCore(undefined, ['sh', '-c', 'taskset -cp $$'])
  const server = spawnSync(name, words, { encoding: 'utf8' }).stdout.split(':').at(-1).trim()
  console.log(JSON.stringify({ all, server, one, inside, after: started(), load: String(cores?.load ?? one) }))
`

test('what is started on all cores has them all, and this process keeps to its own', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  const { all, one, inside, server, after, load } = JSON.parse(stdout)
  expect({ one, inside, server, after }).toEqual({ one: load, inside: all, server: all, after: load })
})
