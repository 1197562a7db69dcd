/** Its own chunk: the YAML parser is loaded where a file has something to say. */
export { readLayer, readSettings } from '@dsh/compose'
