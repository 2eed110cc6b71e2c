/** Prints a test that is made from a recorded run of a server. */
import type { Run } from '../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { scenarioOfRun } from '../../shared/scenarios/scenario-of-run.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Terminal } from '../command.ts'
import { guidOf, recordsOf } from '../management.ts'
import { withManagement } from '../open-management.ts'

/** Gives the exit code. */
export async function recordTest(guid: string, url: string | undefined, terminal: Terminal): Promise<number> {
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
