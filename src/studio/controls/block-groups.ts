import { controlsTexts } from '../texts/shell.ts'

const titles: Readonly<Record<string, string>> = {
  http: controlsTexts.apisAndHttp,
  storage: controlsTexts.storageAndQueries,
  logic: controlsTexts.dataAndLogic,
  background: controlsTexts.backgroundAndScheduling,
  pages: controlsTexts.pages,
}

/** What people call a group of blocks; one that has no name here gets its folder's. */
export function groupTitle(group: string): string {
  return titles[group] ?? group.charAt(0).toUpperCase() + group.slice(1)
}
