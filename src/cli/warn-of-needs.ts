import { environmentNames } from '../expressions/language/environment/environment-names.ts'
import { connectionNamesOf, secretNamesOf } from '../shared/application/names-in-pins.ts'
import type { Block } from '../shared/blueprint.ts'
import { connectionKind } from './connections/stored-connections.ts'
import { valueKind } from './environment/stored-values.ts'
import type { Management } from './management.ts'
import { warnOfMissing } from './named-records.ts'
import { secretKind } from './secrets/stored-secrets.ts'

/** Warns of values of the environment, secrets and connections that the blocks use and that are not there. */
export async function warnOfNeeds(
  management: Management,
  blocks: readonly Block[],
  warn: (text: string) => void,
): Promise<void> {
  const values = {
    missing: (name: string) => `There is no value env.${name}. Set it: quoin env set ${name} <value>`,
    unknown: (name: string) =>
      `The blueprint reads env.${name}; whether it is set is not known without the scope environment_view.`,
  }
  await warnOfMissing(management, valueKind, environmentNames(blocks), values, warn)
  await warnOfMissing(management, secretKind, secretNamesOf(blocks), named('secret'), warn)
  await warnOfMissing(management, connectionKind, connectionNamesOf(blocks), named('connection'), warn)
}

function named(noun: 'secret' | 'connection') {
  const file = noun === 'connection' ? ' <file>' : ''
  return {
    missing: (name: string) => `There is no ${noun} ${name}. Set it: quoin ${noun} set ${name}${file}`,
    unknown: (name: string) =>
      `The blueprint uses the ${noun} ${name}; whether it is set is not known without the scope ${noun}s_view.`,
  }
}
