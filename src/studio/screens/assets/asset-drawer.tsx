import { Anchor, Button, Code, Group, Stack } from '@mantine/core'
import type { Asset } from '../../../shared/api/data/assets.ts'
import { assetContent, forgetAssets, publicAddress, readAsset } from '../../api/assets.ts'
import { call } from '../../api/request.ts'
import { bytes } from '../../controls/amounts.ts'
import { confirm } from '../../controls/confirm.ts'
import { Facts } from '../../controls/facts.tsx'
import { Icon } from '../../controls/icon.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { saveFile } from '../../controls/save-file.ts'
import { Time } from '../../controls/time.tsx'
import { assetsTexts } from '../../texts/assets.ts'
import { AssetPreview } from './asset-preview.tsx'

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
