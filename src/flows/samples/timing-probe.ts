/**
 * The probe of sampled runs: it notes how long each block took, and nothing of its values. The time of a block is that of its
 * own work and of the expressions on its pins, without the value blocks that those read; of a block that waits, all of it.
 */
import { isPromise } from '../../shared/maybe-promise.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { RunControl } from '../compile/frame.ts'
import type { Probe } from '../compile/probe.ts'
import type { Deployed, Sample } from './sample.ts'

/** The pins of one execution: their object is what connects them with the work of the block. */
interface Gathered {
  readonly sample: Sample
  readonly milliseconds: number
}

export interface TimingProbes {
  of(version: Deployed): Probe
  /** From now on the run's blocks are noted in the sample. Forgotten with the run. */
  watch(run: RunControl, sample: Sample): void
}

export function timingProbes(now: () => number = () => performance.now()): TimingProbes {
  const samples = new WeakMap<RunControl, Sample>()
  const gathered = new WeakMap<object, Gathered>()
  /** Milliseconds of the value blocks that were read for the pins which are being read. */
  let read = 0

  /** What it takes without what was read for it. */
  function timed<T>(work: () => T, took: (own: number) => void): T {
    const before = read
    read = 0
    const began = now()
    try {
      return work()
    } finally {
      const all = now() - began
      took(all - read)
      read = before + all
    }
  }

  const of = (version: Deployed): Probe => ({
    gather({ definition }, gather) {
      if (definition.kind === 'trigger') return gather
      return (frame) => {
        const sample = samples.get(frame.run)
        if (!sample) return gather(frame)
        let milliseconds = 0
        const inputs = timed(
          () => ({ ...gather(frame) }),
          (own) => {
            milliseconds = own
          },
        )
        gathered.set(inputs, { sample, milliseconds })
        return inputs
      }
    },

    value({ block }, definition) {
      const guid = drawnBlock(block.guid)
      return {
        ...definition,
        value(inputs, context) {
          const found = gathered.get(inputs)
          if (!found) return definition.value(inputs, context)
          const pins = found.milliseconds + (gathered.get(context.more)?.milliseconds ?? 0)
          return timed(
            () => definition.value(inputs, context),
            (own) => found.sample.add(version, guid, (pins + own) * 1_000),
          )
        },
      }
    },

    flow({ block }, definition) {
      const guid = drawnBlock(block.guid)
      return {
        ...definition,
        run(inputs, context) {
          const found = gathered.get(inputs)
          if (!found) return definition.run(inputs, context)
          const pins = found.milliseconds + (gathered.get(context.more)?.milliseconds ?? 0)
          const began = now()
          const over = () => found.sample.add(version, guid, (pins + now() - began) * 1_000)
          let given: ReturnType<typeof definition.run>
          try {
            given = definition.run(inputs, context)
          } catch (error) {
            over()
            throw error
          }
          if (isPromise(given)) given.then(over, over)
          else over()
          return given
        },
      }
    },

    expression: (_expression, evaluate) => evaluate,
    name: (_name, get) => get,
    event: (_node, store) => store,
  })

  return {
    of,
    watch(run, sample) {
      samples.set(run, sample)
    },
  }
}
