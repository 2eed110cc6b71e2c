import { useQuery } from '@tanstack/react-query'
import { versionBlocks } from '../api/editor-api.ts'
import { flowOfVersion } from '../model/changes/version-flow.ts'
import type { Flow } from '../model/flow.ts'

/** The blocks of a version. They never change, so they are read once. */
export function useVersion(guid: string, number: number | undefined) {
  return useQuery({
    queryKey: ['version', guid, number],
    queryFn: async ({ signal }): Promise<Flow> =>
      number === 0 ? new Map() : flowOfVersion(await versionBlocks(guid, number ?? 0, signal)),
    enabled: number !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
