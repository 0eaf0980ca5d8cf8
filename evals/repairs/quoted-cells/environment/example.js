'use strict'
const { read, write } = require('./csv')
console.log(read(write([['name', 'note'], ['Ada', 'mathematics, poetry']])))
