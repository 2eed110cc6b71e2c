import { useQuery } from '@tanstack/react-query'
import type { Asset } from '../../../shared/api/data/assets.ts'
import { thumbnailQuery } from '../../api/assets.ts'
import { Icon } from '../../controls/icon.tsx'
import classes from './asset-thumbnail.module.css'

export function AssetThumbnail({ asset }: { readonly asset: Asset }) {
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
