import { useQuery } from '@tanstack/react-query'
import { type FlowPage, pagesOf } from '../model/endpoints.ts'
import { flowOfVersion } from '../model/flow.ts'
import { useEditorState } from '../state/editor-context.ts'
import { versionBlocks } from './editor-api.ts'

const none: readonly FlowPage[] = []

/** The pages that are live, with the addresses that they have there; undefined while they are being read. A version never changes. */
export function useDeployedPages(): readonly FlowPage[] | undefined {
  const guid = useEditorState((state) => state.guid)
  const version = useEditorState(({ blueprint }) => (blueprint?.active ? blueprint.version : 0))
  const { data } = useQuery({
    queryKey: ['deployed-pages', guid, version],
    queryFn: async ({ signal }) => pagesOf(flowOfVersion(await versionBlocks(guid, version, signal))),
    enabled: version > 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return version > 0 ? data : none
}
