import type { RunFunctions } from '../compile/frame.ts'
import type { RunEnvironment } from './run-environment.ts'
import type { RunSteps } from './run-steps.ts'

/** What functions in expressions see of one run. */
export function runFunctions({ clock, values }: RunEnvironment, steps: RunSteps): RunFunctions {
  let now = clock()
  return {
    timeZone: values.timeZone,
    locale: values.locale,
    now: () => now,
    startEvaluation() {
      now = clock()
    },
    random(bytes) {
      const drawn = new Uint8Array(bytes)
      values.random(drawn)
      return drawn
    },
    spend: (elements, work) => steps.spend(elements, work),
  }
}
