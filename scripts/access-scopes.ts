import { builtInGroups } from '../src/access/ensure-groups.ts'
import { scopesWithCare } from '../src/shared/management-scopes.ts'

const GROUPS = /(?<=<!-- groups -->\n).*?(?=<!-- end of groups -->)/s
const PLACE = /(?<=<!-- scopes -->\n).*?(?=<!-- end of scopes -->)/s

/** docs/access.md with the tables of groups, and of scopes that need care, as the source has them. */
export function accessWithScopes(page: string): string {
  const rows = scopesWithCare.map(([scope, { meaning }]) => `| \`${scope}\` | ${meaning} |\n`)
  const groups = builtInGroups().map(
    ({ name, description, scopes }) =>
      `| \`${name}\` | ${description} | ${scopes.map((scope) => `\`${scope}\``).join(' ')} |\n`,
  )
  return page
    .replace(PLACE, () => `\n| Scope | What it allows |\n| --- | --- |\n${rows.join('')}\n`)
    .replace(GROUPS, () => `\n| Group | For whom | Scopes |\n| --- | --- | --- |\n${groups.join('')}\n`)
}
