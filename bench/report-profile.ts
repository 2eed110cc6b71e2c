/**
 * Preloaded into a server (`node --import`): the first message over the process's channel starts a profile of the main thread, the
 * second one ends it and is answered with the time of each function itself, without those that it calls.
 */
import { Session } from 'node:inspector/promises'

const INTERVAL_US = 250
const session = new Session()
let isRunning = false

process.on('message', async () => {
  if (isRunning) {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    isRunning = false
    process.send?.(selfTimes(profile))
    return
  }
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
  isRunning = true
  process.send?.([])
})
// The channel must not keep alive a server that has closed.
process.channel?.unref()

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples?: readonly number[] | undefined
  readonly timeDeltas?: readonly number[] | undefined
}

/** Microseconds by function. */
function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profile) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [place, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    times.set(name, (times.get(name) ?? 0) + Math.max(0, timeDeltas[place] ?? 0))
  }
  // Beginning and ending the profile is not the server's work.
  times.delete('post (node:inspector)')
  return [...times].map(([name, microseconds]) => ({ name, microseconds }))
}

/** With its module where that says something: the program itself is one bundle. */
function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? `anonymous:${lineNumber + 1}` : functionName
  if (url === '') return name.startsWith('(') ? name : `${name} (native)`
  return url.startsWith('node:') ? `${name} (${url})` : name
}
