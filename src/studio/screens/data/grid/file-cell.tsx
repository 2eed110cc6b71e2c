import { useQuery } from '@tanstack/react-query'
import { assetAddressQuery } from '../../../api/assets.ts'
import { Icon } from '../../../controls/icon.tsx'
import { isFields } from '../document-shape.ts'
import classes from './grid.module.css'

/** Larger images are not read for a picture of 28 pixels. */
const MOST_BYTES = 2 * 1024 * 1024
const MOST_FILES = 3

/** The first files of a cell: small pictures of images, names of others. */
export function FileCell({ value }: { readonly value: unknown }) {
  const files = (Array.isArray(value) ? value : [value]).filter(isFields)
  return (
    <span className={classes.files}>
      {files.slice(0, MOST_FILES).map((file) => (
        <OneFile key={String(file.guid)} file={file} />
      ))}
      {files.length > MOST_FILES ? `+${files.length - MOST_FILES}` : null}
    </span>
  )
}

function OneFile({ file }: { readonly file: Readonly<Record<string, unknown>> }) {
  const name = typeof file.name === 'string' ? file.name : 'File'
  const type = typeof file.type === 'string' ? file.type : ''
  const isImage = /^image\/(?!svg)/.test(type) && Number(file.size ?? MOST_BYTES + 1) <= MOST_BYTES
  const { data } = useQuery({ ...assetAddressQuery(String(file.guid)), enabled: isImage, retry: false })
  if (data !== undefined) return <img src={data} alt={name} title={name} />
  return (
    <span className={classes.files} title={name}>
      <Icon name="file" size={15} />
      <span className={classes.text}>{name}</span>
    </span>
  )
}
