import { readFile } from 'node:fs/promises'
import type { Access } from '../access/access.ts'
import type { FirstAdministrator } from '../access/first-administrator.ts'
import { installBlueprint } from '../flows/blueprints/install-blueprint.ts'
import type { Flows } from '../flows/flows.ts'
import { OptionError } from '../options/option-kinds.ts'
import { type Options, optionTable } from '../options/options.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Database } from '../storage/database.ts'

interface FirstStart {
  readonly options: Options
  readonly database: Database
  readonly access: Access
  readonly flows: Flows
}

/** Of nodes that start together one makes the administrator, and installs what it is to find. undefined: it was there. */
export function startFirst(given: FirstStart): Promise<FirstAdministrator | undefined> {
  const { options, database, access, flows } = given
  return database.capabilities.alone('first start', async () => {
    const made = await access.ensureAdministrator(options.adminPassword || undefined).catch(namingSetting)
    if (made && options.examples) await installExample(flows, made)
    return made
  })
}

/** The password that is refused stands in a setting. */
function namingSetting(error: unknown): never {
  if (!(error instanceof QuoinError) || !error.fields?.includes('password')) throw error
  throw new OptionError(
    `${error.message.replace(/^password/, optionTable.adminPassword.variable)} Give another one, or none: then a random one is made and printed once.`,
  )
}

async function installExample(flows: Flows, { guid, username }: FirstAdministrator): Promise<void> {
  const file = await readFile(new URL('../../examples/tasks.blueprint.json', import.meta.url), 'utf8')
  await installBlueprint(flows, JSON.parse(file), { guid, username })
}
