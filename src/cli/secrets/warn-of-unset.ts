import { secretNamesOf } from '../../shared/application/secret-names-of.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Management, Refused } from '../management.ts'
import { allSecrets } from './stored-secrets.ts'

/** Warns of secrets that the blocks name and that are not set. A deploy warns by itself. */
export async function warnOfUnset(
  management: Management,
  blocks: readonly Block[],
  warn: (text: string) => void,
): Promise<void> {
  const wanted = secretNamesOf(blocks)
  if (wanted.length === 0) return
  const names = await namesSet(management)
  for (const name of wanted)
    if (!names?.includes(name))
      warn(
        names
          ? `There is no secret ${name}. Set it: quoin secret set ${name}`
          : `The blueprint uses the secret ${name}; whether it is set is not known without the scope secrets_view.`,
      )
}

/** undefined where the caller lacks the scope, or the server is of a version without secrets. */
async function namesSet(management: Management): Promise<readonly string[] | undefined> {
  try {
    return (await allSecrets(management)).map(({ name }) => name)
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return undefined
    throw error
  }
}
