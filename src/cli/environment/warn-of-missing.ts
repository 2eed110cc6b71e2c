import { environmentNames } from '../../expressions/language/environment/environment-names.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Management, Refused } from '../management.ts'
import { allValues } from './stored-values.ts'

/** Warns of values of the environment that the blocks read and that are not set. A deploy warns by itself. */
export async function warnOfMissing(
  management: Management,
  blocks: readonly Block[],
  warn: (text: string) => void,
): Promise<void> {
  const wanted = environmentNames(blocks)
  if (wanted.length === 0) return
  const names = await namesSet(management)
  for (const name of wanted)
    if (!names?.includes(name))
      warn(
        names
          ? `There is no value env.${name}. Set it: quoin env set ${name} <value>`
          : `The blueprint reads env.${name}; whether it is set is not known without the scope environment_view.`,
      )
}

/** undefined where the caller lacks the scope, or the server is of a version without values. */
async function namesSet(management: Management): Promise<readonly string[] | undefined> {
  try {
    return (await allValues(management)).map(({ name }) => name)
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return undefined
    throw error
  }
}
