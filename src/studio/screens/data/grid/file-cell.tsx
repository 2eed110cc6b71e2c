import { useQuery } from '@tanstack/react-query'
import { thumbnailQuery } from '../../../api/assets.ts'
import { Icon } from '../../../controls/icon.tsx'
import { gridTexts } from '../../../texts/grid.ts'
import { isFields } from '../documents/document-shape.ts'
import classes from './grid.module.css'

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
  const name = typeof file.name === 'string' ? file.name : gridTexts.file
  const type = typeof file.type === 'string' ? file.type : ''
  const size = typeof file.size === 'number' ? file.size : Number.POSITIVE_INFINITY
  const { data } = useQuery(thumbnailQuery({ guid: String(file.guid), type, size }))
  if (data) return <img src={data} alt={name} title={name} />
  return (
    <span className={classes.files} title={name}>
      <Icon name="file" size={15} />
      <span className={classes.text}>{name}</span>
    </span>
  )
}
