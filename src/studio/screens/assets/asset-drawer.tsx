import { Anchor, Button, Code, Group, Stack } from '@mantine/core'
import type { Asset } from '../../../shared/api/assets.ts'
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
import { AssetPreview } from './asset-preview.tsx'

export function AssetDrawer() {
  return (
    <RecordDrawer<Asset> title="Asset" queryKey={['assets', 'one']} load={readAsset}>
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
      notifyFailed(`${asset.name} was not downloaded`, error)
    }
  }
  return (
    <Stack gap="md">
      <AssetPreview asset={asset} />
      <Facts
        facts={{
          Name: asset.name,
          Directory: asset.directory,
          'Public address':
            address === undefined ? undefined : (
              <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
                {address}
              </Anchor>
            ),
          Type: asset.type,
          Size: `${bytes(asset.size)} (${asset.size.toLocaleString()} bytes)`,
          Uploaded: <Time at={asset._meta.created} exact />,
          By: asset.created_by.username,
          'SHA-256': <Code>{asset.sha256}</Code>,
          Guid: <Code>{asset._meta.guid}</Code>,
        }}
      />
      <Group gap="xs">
        <Button leftSection={<Icon name="download" size={16} />} onClick={() => void download()}>
          Download
        </Button>
        <Button
          variant="default"
          color="red"
          leftSection={<Icon name="trash" size={16} />}
          onClick={() => askToDelete(asset, close)}
        >
          Delete
        </Button>
      </Group>
    </Stack>
  )
}

function askToDelete({ _meta, name }: Asset, close: () => void): void {
  confirm({
    title: `Delete ${name}?`,
    text: 'The file is deleted permanently. Links to it in documents and pages will break.',
    action: 'Delete permanently',
    run: async () => {
      await call('DELETE', `/_system/assets/${_meta.guid}`)
      close()
      await forgetAssets()
    },
  })
}
