import { useQuery } from '@tanstack/react-query'
import type { Asset } from '../../../shared/api/assets.ts'
import { assetAddressQuery, publicAddress } from '../../api/assets.ts'
import { Icon } from '../../controls/icon.tsx'
import classes from './asset-thumbnail.module.css'

/** Larger images are not read for a picture of 32 pixels. */
const MOST_BYTES = 2 * 1024 * 1024

export function AssetThumbnail({ asset }: { readonly asset: Asset }) {
  const isShown = /^image\/(?!svg)/.test(asset.type) && asset.size <= MOST_BYTES
  const address = publicAddress(asset)
  const { data } = useQuery({
    ...assetAddressQuery(asset._meta.guid),
    enabled: isShown && address === undefined,
  })
  const source = address ?? data
  return (
    <span className={classes.frame}>
      {isShown && source !== undefined ? (
        <img src={source} alt="" loading="lazy" />
      ) : (
        <Icon name={asset.type.startsWith('image/') ? 'asset' : 'file'} size={17} />
      )}
    </span>
  )
}
