/**
 * A reporter of vitest: names each test that failed first and then passed, with its first error, and fails the run when
 * there are more than a machine that stalls now and then explains. Tests are tried again where `CI` is set only, so that
 * at a desk each failure is seen at once.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { removeFailedSuites, writeFailedSuites } from './failed-suites.ts'

export interface SecondTry {
  readonly name: string
  /** The message of its first failure. */
  readonly error: string
}

/** Of 15,000 tests. Each is named, to be mended; more of them are no accident. */
const MOST_SECOND_TRIES = 3

/** What is wrong with so many; undefined when nothing is. */
export function secondTryProblem(tries: readonly SecondTry[]): string | undefined {
  if (tries.length <= MOST_SECOND_TRIES) return undefined
  return `${tries.length} tests passed at the second try only; at most ${MOST_SECOND_TRIES} may. The run failed.`
}

export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[] = []): void {
    const failed = modules.filter((module) => module.state() === 'failed')
    // Another error belongs to no suite, and passing suites do not take it away.
    if (unhandled.length > 0) removeFailedSuites()
    else writeFailedSuites(failed.map(({ relativeModuleId }) => relativeModuleId))
    const tries = modules.flatMap(secondTriesOf)
    if (tries.length === 0) return
    console.log(`Passed at the second try: ${tries.length}. Each is a fault of the test or of Quoin.`)
    for (const { name, error } of tries) console.log(`  ${name}: ${error}`)
    const problem = secondTryProblem(tries)
    if (problem === undefined) return
    console.error(problem)
    process.exitCode = 1
    removeFailedSuites()
  }
}

function secondTriesOf(module: TestModule): SecondTry[] {
  return [...module.children.allTests('passed')]
    .filter((test) => test.diagnostic()?.flaky === true)
    .map((test) => {
      const [first] = test.result().errors ?? []
      const name = `${module.relativeModuleId} > ${test.fullName}`
      return { name, error: first?.message.split('\n')[0] ?? 'no error given' }
    })
}
