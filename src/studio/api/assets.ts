import { queryOptions } from '@tanstack/react-query'
import type { Asset } from '../../shared/api/assets.ts'
import type { DocumentSearch } from '../../shared/api/documents.ts'
import { queryClient } from './query-client.ts'
import { call, type Page, search, send } from './request.ts'

export function findAssets(body: DocumentSearch, signal: AbortSignal): Promise<Page<Asset>> {
  return search<Asset>('/_system/assets/search', body, signal)
}

export function readAsset(guid: string, signal: AbortSignal): Promise<Asset> {
  return call<Asset>('GET', `/_system/assets/${guid}`, { signal })
}

export function forgetAssets(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['assets'] })
}

/** The address of a public asset; undefined for a private one. */
export function publicAddress({ public_path }: Asset): string | undefined {
  if (public_path === null) return undefined
  return `/static/${public_path.split('/').map(encodeURIComponent).join('/')}`
}

/** The bytes. An image tag cannot send the token, so what is private is read here. */
export async function assetContent(guid: string, signal?: AbortSignal): Promise<Blob> {
  return (await send('GET', `/_system/assets/${guid}/content`, { signal })).blob()
}

/** The bytes as an address that only this page understands; kept while something shows it. */
export const assetAddressQuery = (guid: string) =>
  queryOptions({
    queryKey: ['assets', 'content', guid],
    queryFn: async ({ signal }) => URL.createObjectURL(await assetContent(guid, signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
