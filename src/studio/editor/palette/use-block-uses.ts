import { useQuery } from '@tanstack/react-query'
import type { BlockUses } from '../../../shared/api/blocks/blocks.ts'
import { call } from '../../api/request.ts'

const none: BlockUses = []

/** Which block types this cluster uses most; nothing while it is not known. */
export function useBlockUses(): BlockUses {
  const { data } = useQuery({
    queryKey: ['block-uses'],
    queryFn: ({ signal }) => call<BlockUses>('GET', '/blocks/uses', { signal }),
    // While the editor is open the list keeps its order: what is looked for stays where it was.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
  return data ?? none
}
