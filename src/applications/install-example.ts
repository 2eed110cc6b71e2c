/** Installs an application that comes with the program, `examples/crm`, by the same push as any other. */
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Actor } from '../records/records.ts'
import type { Application } from '../shared/application/application.ts'
import { nameOfApplication } from '../shared/application/application.ts'
import { pushedMaps } from '../shared/application/application-changes.ts'
import { applicationOf } from '../shared/application/application-files.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Applications } from './applications.ts'
import type { Publisher } from './apply-release.ts'
import { readFolder } from './read-folder.ts'

const examples = new URL('../../examples/', import.meta.url)

export async function exampleNames(): Promise<readonly string[]> {
  const entries = await readdir(examples, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

/** The files are part of the program, and a test checks them. */
export async function readExample(name: string): Promise<Application> {
  return applicationOf(await readFolder(fileURLToPath(new URL(`${name}/`, examples)))).application
}

/** Who starts the program may do everything with its data. */
export function everything(actor: Actor): Publisher {
  return {
    identity: {
      ...actor,
      scopes: new Set(['*']),
      user: { ...actor, _meta: { guid: actor.guid } },
      tokenGuid: '',
    },
    actor,
    deployer: { ...actor, mayTakeAccountPages: true, lacks: () => false },
    mayScript: true,
  }
}

/**
 * Once: an application that is there is left as it is, and so are objects of its names that an earlier version of Quoin installed, whatever
 * was changed or removed since. CONFLICT where some of its objects are there and others are not.
 */
export async function installExample(
  applications: Applications,
  application: Application,
  actor: Actor,
): Promise<void> {
  const by = everything(actor)
  const name = nameOfApplication(application)
  if ((await applications.list()).some((record) => record.name === name)) return
  const plan = await applications.plan({ ...application }, by)
  const created = plan.changes.filter(({ change }) => change === 'created').length
  const objects = pushedMaps.flatMap((map) => Object.keys(application[map])).length
  if (created === 0) return
  const reason =
    created < objects && plan.refused.length === 0
      ? `${objects - created} of its objects are there already, such as: ${plan.steps.find((step) => step.startsWith('adopted '))}.`
      : plan.refused[0]
  if (reason !== undefined)
    throw new QuoinError('CONFLICT', `The example ${name} cannot be installed: ${reason}`)
  const released = await applications.push({ ...application }, { state: plan.state, allowLoss: false }, by)
  const [problem] = 'problems' in released ? released.problems : []
  if (problem !== undefined)
    throw new QuoinError(
      'CONFLICT',
      `The example ${name} is installed without its first documents: ${problem}`,
    )
}
