import type { Run } from '../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { scenarioOfRun } from '../../shared/scenarios/scenario-of-run.ts'
import { textIn } from '../../storage/document-fields.ts'
import { command, type Terminal } from '../command.ts'
import { guidOf, recordsOf } from '../management.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

const engines = ['sqlite', 'postgres'] as const
const reporters = ['text', 'json', 'junit'] as const

export const test = command({
  name: 'test',
  operands: [{ name: '<application>', optional: true, completes: 'file' }],
  flags: {
    filter: { type: 'string', value: '<text>', help: 'Only tests whose name or file contains this.' },
    reporter: {
      type: 'string',
      value: '<kind>',
      help: 'text (default), json, or junit for build pipelines.',
      completes: reporters,
    },
    coverage: { type: 'boolean', help: 'Says which ways through the flows no test has taken.' },
    'min-coverage': {
      type: 'string',
      value: '<percent>',
      help: 'Fails below this share of the ways; with --coverage.',
    },
    'coverage-out': {
      type: 'string',
      value: '<file>',
      help: 'Writes blocks and ways, and whether a test has taken them, as JSON.',
      completes: 'file',
    },
    engine: {
      type: 'string',
      value: '<engine>',
      help: 'sqlite (default), or postgres: in databases of their own on the server of DATABASE_URL.',
      completes: engines,
    },
    fresh: {
      type: 'boolean',
      help: 'Opens a new cluster for each test in place of setting one back. Slower, with the same results.',
    },
    live: {
      type: 'string',
      value: '<file>',
      help: 'Evaluations ask the servers of the connections in this file, not what was recorded of them.',
      completes: 'file',
    },
    answers: {
      type: 'boolean',
      help: 'With --reporter json: also the reply of each step, and what ran.',
    },
    compare: {
      type: 'string',
      value: '<report>',
      help: 'Says how scores of evaluations differ from a report by --reporter json, such as of another release.',
      completes: 'file',
    },
    watch: { type: 'boolean', help: 'Runs them again after each save, until Ctrl+C.' },
    record: {
      type: 'string',
      value: '<run>',
      help: 'Prints a test that is made from a recorded run, in place of running tests.',
    },
    ...urlFlag,
  },
  summary: 'Runs the tests of an application: requests, events, schedules, and the results that they expect.',
  about: `Reads *.blueprint.json and *.test.json in the folder and the folders below it; the present one if none is named. Of a single
blueprint file: inventory.blueprint.json has the tests inventory.*.test.json beside it. Each test has a cluster in
memory, with the documents that it names, a clock that it moves, answers for calls of other servers, and mails that are
caught. Exits with 1 if a test fails. With --record the guid of a traced run of a server makes a test: what it read, what other
servers replied, and what came of it. docs/tests.md has the format.`,
  async run({ positionals: [folder = '.'], values }, terminal) {
    if (values.record !== undefined) {
      return recordTest(values.record, values.url, terminal)
    }
    const { filter, reporter = 'text', 'min-coverage': least } = values
    const minCoverage = Number(least ?? 0)
    if (!(minCoverage >= 0 && minCoverage <= 100))
      throw new UsageError('--min-coverage must be from 0 to 100.')
    const coverageOut = values['coverage-out']
    const coverage = values.coverage === true || least !== undefined || coverageOut !== undefined
    const kind = reporters.find((one) => one === reporter)
    if (kind === undefined) throw new UsageError(`--reporter must be one of ${reporters.join(', ')}.`)
    const chosen = values.engine ?? 'sqlite'
    if (!engines.some((one) => one === chosen))
      throw new UsageError(`--engine must be one of ${engines.join(', ')}.`)
    const requested = {
      ...{ folder, filter, reporter: kind, coverage, minCoverage, coverageOut },
      ...{ fresh: values.fresh === true, postgres: chosen === 'postgres', compare: values.compare },
      ...{ answers: values.answers === true, live: values.live },
    }
    if (values.watch === true) {
      const [{ watchTests }, { stopSignal }] = await Promise.all([
        import('./watch-tests.ts'),
        import('../run-start.ts'),
      ])
      const stop = new AbortController()
      void stopSignal(process, terminal.clock, (code) => process.exit(code)).then(() => stop.abort())
      return watchTests(requested, terminal, stop.signal)
    }
    const { runTests } = await import('./run-tests.ts')
    return runTests(requested, terminal)
  },
})

// Prints a test that is made from a recorded run of a server.

/** Gives the exit code. */
async function recordTest(guid: string, url: string | undefined, terminal: Terminal): Promise<number> {
  return withManagement(terminal, url, async (management) => {
    const run = await management.call('GET', `/runs/${encodeURIComponent(guid)}`)
    if (!isRun(run)) throw new Error('The server sent no run.')
    const groups =
      run.user === null || run.user === 'admin'
        ? []
        : await management.call('POST', '/_system/authentication-groups/search', { limit: 1_000 })
    const names = recordsOf(groups).map((group): [string, string] => [guidOf(group), textIn(group.name)])
    const { scenario, notes } = scenarioOfRun(run, new Map(names))
    terminal.print(JSON.stringify(scenario, undefined, 2))
    for (const note of notes) terminal.complain(`Look at it: ${note}`)
    return 0
  })
}

function isRun(body: JsonValue): body is JsonValue & Run {
  return isJsonObject(body) && typeof body.trigger_type === 'string' && Array.isArray(body.steps)
}
