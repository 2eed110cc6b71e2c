/** Profiles rows on the engines on which they are measured, and puts them into the report. */
import type { Machine } from './machine.ts'
import { postgresRows } from './postgres.ts'
import { type ProfiledEngine, profileRows, type RowProfile } from './profile.ts'
import { readReport, writeSection } from './report-file.ts'
import { profileLines, profilesSection } from './report-profiles.ts'
import { type Row, rows } from './rows.ts'

export interface ProfiledRow {
  readonly engine: ProfiledEngine
  readonly row: Row
}

/** Each on the embedded engine, and on PostgreSQL where it is measured there. */
export function onBothEngines(chosen: readonly Row[]): readonly ProfiledRow[] {
  return [
    ...chosen.map((row): ProfiledRow => ({ engine: 'embedded engine', row })),
    ...chosen
      .filter(({ id }) => postgresRows.includes(id))
      .map((row): ProfiledRow => ({ engine: 'PostgreSQL, near', row })),
  ]
}

export async function benchProfiles(
  requested: readonly ProfiledRow[],
  machine: Machine,
  core: number | undefined,
  seconds: number,
): Promise<void> {
  const profiles: RowProfile[] = []
  for (const [engine, chosen] of Map.groupBy(requested, (one) => one.engine)) {
    console.log(`Profiles, ${engine} …`)
    const found = await profileRows(
      engine,
      chosen.map(({ row }) => row),
      core,
      seconds,
    )
    for (const profile of found) console.log(`\n${profileLines(profile)}`)
    profiles.push(...found)
  }
  const titles = rows.map(({ title }) => title)
  await writeSection(profilesSection(profiles, await readReport(), titles, machine))
}
