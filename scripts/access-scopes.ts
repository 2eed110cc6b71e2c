import { scopesWithCare } from '../src/shared/management-scopes.ts'

const PLACE = /(?<=<!-- scopes -->\n).*?(?=<!-- end of scopes -->)/s

/** docs/access.md with the table of scopes that need care, as the source has them. */
export function accessWithScopes(page: string): string {
  const rows = scopesWithCare.map(([scope, { meaning }]) => `| \`${scope}\` | ${meaning} |\n`)
  return page.replace(PLACE, () => `\n| Scope | What it allows |\n| --- | --- |\n${rows.join('')}\n`)
}
