const titles: Readonly<Record<string, string>> = {
  http: 'APIs and HTTP',
  storage: 'Storage and queries',
  logic: 'Data and logic',
  background: 'Background and scheduling',
  pages: 'Pages',
}

/** What people call a group of blocks; one that has no name here gets its folder's. */
export function groupTitle(group: string): string {
  return titles[group] ?? group.charAt(0).toUpperCase() + group.slice(1)
}
