declare const temml: any
export default temml
