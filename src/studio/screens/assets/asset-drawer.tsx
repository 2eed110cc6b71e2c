import { Anchor, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Asset } from '../../../shared/api/data/assets.ts'
import { assetAddressQuery, assetContent, forgetAssets, publicAddress, readAsset } from '../../api/assets.ts'
import { call } from '../../api/request.ts'
import { bytes } from '../../controls/amounts.ts'
import { confirm } from '../../controls/confirm.ts'
import { Facts } from '../../controls/facts.tsx'
import { Icon } from '../../controls/icon.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { saveFile } from '../../controls/save-file.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { ScrollText } from '../../controls/tags.tsx'
import { Time } from '../../controls/time.tsx'
import { assetsTexts } from '../../texts/documents.ts'
import classes from './asset-preview.module.css'

const MOST_BYTES = 30 * 1024 * 1024
const MOST_TEXT = 20_000

/** What a file holds, where a browser can show it without running it. */
function AssetPreview({ asset }: { readonly asset: Asset }) {
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

export function AssetDrawer() {
  return (
    <RecordDrawer<Asset> title={assetsTexts.asset} queryKey={['assets', 'one']} load={readAsset}>
      {(asset, close) => <Opened asset={asset} close={close} />}
    </RecordDrawer>
  )
}

function Opened({ asset, close }: { readonly asset: Asset; readonly close: () => void }) {
  const address = publicAddress(asset)
  const download = async () => {
    try {
      saveFile(asset.name, await assetContent(asset._meta.guid))
    } catch (error) {
      notifyFailed(assetsTexts.wasNotDownloaded(asset.name), error)
    }
  }
  return (
    <Stack gap="md">
      <AssetPreview asset={asset} />
      <Facts
        facts={{
          [assetsTexts.name]: asset.name,
          [assetsTexts.directory]: asset.directory,
          [assetsTexts.publicAddress]:
            address === undefined ? undefined : (
              <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
                {address}
              </Anchor>
            ),
          [assetsTexts.type]: asset.type,
          [assetsTexts.size]: assetsTexts.exactSize(bytes(asset.size), asset.size.toLocaleString()),
          [assetsTexts.uploaded]: <Time at={asset._meta.created} exact />,
          [assetsTexts.by]: asset.created_by.username,
          [assetsTexts.sha256]: <Code>{asset.sha256}</Code>,
          [assetsTexts.guid]: <Code>{asset._meta.guid}</Code>,
        }}
      />
      <Group gap="xs">
        <Button leftSection={<Icon name="download" size={16} />} onClick={() => void download()}>
          {assetsTexts.download}
        </Button>
        <Button
          variant="default"
          color="red"
          leftSection={<Icon name="trash" size={16} />}
          onClick={() => askToDelete(asset, close)}
        >
          {assetsTexts.delete}
        </Button>
      </Group>
    </Stack>
  )
}

function askToDelete({ _meta, name }: Asset, close: () => void): void {
  confirm({
    title: assetsTexts.deleteTitle(name),
    text: assetsTexts.deleteText,
    action: assetsTexts.deletePermanently,
    run: async () => {
      await call('DELETE', `/_system/assets/${_meta.guid}`)
      close()
      await forgetAssets()
    },
  })
}
