import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Asset } from '../../../shared/api/data/assets.ts'
import { assetAddressQuery, assetContent } from '../../api/assets.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { ScrollText } from '../../controls/scroll-text.tsx'
import { assetsTexts } from '../../texts/assets.ts'
import classes from './asset-preview.module.css'

const MOST_BYTES = 30 * 1024 * 1024
const MOST_TEXT = 20_000

/** What a file holds, where a browser can show it without running it. */
export function AssetPreview({ asset }: { readonly asset: Asset }) {
  const [kind] = asset.type.split('/')
  if (asset.size > MOST_BYTES)
    return (
      <Text size="sm" c="dimmed">
        {assetsTexts.tooLargePreview}
      </Text>
    )
  if (/^text\/|json|xml|yaml|javascript/.test(asset.type)) return <TextPreview asset={asset} />
  if (kind === 'image' || kind === 'video' || kind === 'audio')
    return <MediaPreview asset={asset} kind={kind} />
  return (
    <Text size="sm" c="dimmed">
      {assetsTexts.noPreviewFor(asset.type)}
    </Text>
  )
}

function MediaPreview({
  asset,
  kind,
}: {
  readonly asset: Asset
  readonly kind: 'image' | 'video' | 'audio'
}) {
  const { data, error } = useQuery(assetAddressQuery(asset._meta.guid))
  if (error) return <ErrorNotice error={error} title={assetsTexts.noPreview} />
  if (data === undefined) return <Skeleton height={260} />
  if (kind === 'image')
    return <img className={classes.media} src={data} alt={assetsTexts.previewOf(asset.name)} />
  // biome-ignore lint/a11y/useMediaCaption: files of users come without captions
  if (kind === 'video') return <video className={classes.media} src={data} controls />
  // biome-ignore lint/a11y/useMediaCaption: files of users come without captions
  return <audio className={classes.media} src={data} controls />
}

function TextPreview({ asset }: { readonly asset: Asset }) {
  const { data, error } = useQuery({
    queryKey: ['assets', 'text', asset._meta.guid],
    queryFn: async ({ signal }) => (await assetContent(asset._meta.guid, signal)).slice(0, MOST_TEXT).text(),
  })
  if (error) return <ErrorNotice error={error} title={assetsTexts.noPreview} />
  if (data === undefined) return <Skeleton height={260} />
  return <ScrollText label={assetsTexts.startOf(asset.name)}>{data}</ScrollText>
}
