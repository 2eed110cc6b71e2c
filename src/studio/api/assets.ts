import { queryOptions } from '@tanstack/react-query'
import type { Asset } from '../../shared/api/data/assets.ts'
import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import { isReadableImage } from '../../shared/files/image-request.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { queryClient } from './query-client.ts'
import { call, search, send } from './request.ts'

export function findAssets(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Asset>> {
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

/** Whole images up to this size stand for small ones where the server makes none. */
const MOST_WHOLE = 2 * 1024 * 1024
const THUMBNAIL = '?width=64&format=webp'

interface ImageFile {
  readonly guid: string
  readonly type: string
  /** Bytes. */
  readonly size: number
}

/** A picture of at most 64 pixels, as an address that only this page understands; null for what cannot be shown. */
export const thumbnailQuery = ({ guid, type, size }: ImageFile) =>
  queryOptions({
    queryKey: ['assets', 'thumbnail', guid],
    queryFn: async ({ signal }) => {
      const blob = await smallImage({ guid, type, size }, signal)
      return blob === undefined ? null : URL.createObjectURL(blob)
    },
    enabled: /^image\/(?!svg)/.test(type),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

async function smallImage({ guid, type, size }: ImageFile, signal: AbortSignal): Promise<Blob | undefined> {
  const path = `/_system/assets/${guid}/content`
  try {
    if (isReadableImage(type)) return await (await send('GET', path + THUMBNAIL, { signal })).blob()
  } catch (error) {
    // No sharp, or an image that it refuses; a browser may show it.
    if (signal.aborted) throw error
  }
  return size <= MOST_WHOLE ? assetContent(guid, signal) : undefined
}
