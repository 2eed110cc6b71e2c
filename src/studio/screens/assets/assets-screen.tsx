import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Asset } from '../../../shared/api/data/assets.ts'
import { findAssets, thumbnailQuery } from '../../api/assets.ts'
import { bytes } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { filtersOf, SearchField, SelectFilter } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { assetsTexts } from '../../texts/documents.ts'
import { AssetDrawer } from './asset-drawer.tsx'
import classes from './asset-thumbnail.module.css'
import { UploadAssets } from './upload-assets.tsx'

const columns: readonly Column<Asset>[] = [
  {
    id: 'name',
    label: assetsTexts.name,
    sort: 'name',
    render: (asset) => (
      <Group component="span" gap="sm" wrap="nowrap">
        <AssetThumbnail asset={asset} />
        <span style={{ overflowWrap: 'anywhere' }}>{asset.name}</span>
      </Group>
    ),
  },
  {
    id: 'directory',
    label: assetsTexts.directory,
    sort: 'directory',
    render: ({ directory, public_path }) => (
      <Group gap={6}>
        {directory}
        {public_path === null ? null : <Badge color="sand">{assetsTexts.public}</Badge>}
      </Group>
    ),
  },
  {
    id: 'type',
    label: assetsTexts.type,
    sort: 'type',
    render: ({ type }) => (
      <Text size="sm" c="dimmed">
        {type}
      </Text>
    ),
  },
  {
    id: 'size',
    label: assetsTexts.size,
    sort: 'size',
    numeric: true,
    width: 100,
    render: ({ size }) => bytes(size),
  },
  {
    id: 'created',
    label: assetsTexts.uploaded,
    sort: '_meta.created',
    width: 130,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
]

export function AssetsScreen() {
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={assetsTexts.assets} about={assetsTexts.assetsAbout} />
      <UploadAssets />
      <Group mb="sm" gap="sm">
        <SearchField label={assetsTexts.searchAssets} />
        <SelectFilter name="directory" label={assetsTexts.directory} options={['public', 'system_assets']} />
      </Group>
      <RecordTable<Asset>
        label={assetsTexts.assets}
        queryKey={['assets', 'list']}
        load={findAssets}
        body={filtersOf(words, { directory: 'directory' })}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/assets', words, _meta.guid)}
        empty={
          <EmptyState icon="asset" title={assetsTexts.noAssets}>
            <Text size="sm">{assetsTexts.noAssetsText}</Text>
          </EmptyState>
        }
      />
      <AssetDrawer />
    </>
  )
}

function AssetThumbnail({ asset }: { readonly asset: Asset }) {
  const { type, size } = asset
  const { data } = useQuery(thumbnailQuery({ guid: asset._meta.guid, type, size }))
  return (
    <span className={classes.frame}>
      {data ? (
        <img src={data} alt="" loading="lazy" />
      ) : (
        <Icon name={type.startsWith('image/') ? 'asset' : 'file'} size={17} />
      )}
    </span>
  )
}
